package mcpserver

func (s *Server) addReminderTools() {}
