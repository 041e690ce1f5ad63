package web

import "skillrouter/internal/safetext"

// neutralise shows what in a page could not be seen and changes what is. It
// sees the whole page, so that no template can forget it.
func neutralise(page []byte) []byte { return []byte(safetext.Visible(string(page))) }
