package mcpserver

func (s *Server) addSessionTools() {}
