package mcpserver

func (s *Server) addContextTools() {}
