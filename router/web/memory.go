package web

// memoryPages registers the pages of what is remembered and learned.
func (s *Server) memoryPages() {}
