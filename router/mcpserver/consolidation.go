package mcpserver

func (s *Server) addConsolidationTools() {}
