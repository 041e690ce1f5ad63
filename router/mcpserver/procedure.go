package mcpserver

func (s *Server) addProcedureTools() {}
