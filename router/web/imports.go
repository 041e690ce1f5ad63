package web

import (
	"skillrouter/learning"
	"skillrouter/router/transfer"
)

const importsPath = "/ui/imports"

func (s *Server) importPages() {
	s.page(importsPath, "imports.html", "Imports", s.imports)
	s.section(memory, "Imports", importsPath)
	s.notice("import-undone", "What the import added is taken back.")
	s.notice("import-part", "A part is taken back: undo it again for the rest.")
	s.notice("import-skipped", "Taken back, but for what was changed or used since.")
	s.action("/ui/imports/undo", importsPath, s.undoImport)
}

// importList is what the page of the imports shows.
type importList struct {
	Imports []learning.Import
	pager
}

func (s *Server) imports(v *visit) (any, error) {
	found, err := s.services.Transfer.Imports(v.context(), transfer.ImportFilter{Cursor: v.value("cursor"), Limit: pageRows})
	return importList{found.Imports, v.pages(importsPath, found.Next, "Newest", "Older")}, err
}

// undoParts is how many parts of an import one form takes back, so that the browser gets an answer within seconds.
const undoParts = 10

func (s *Server) undoImport(v *visit) (string, error) {
	draft, skipped := transfer.UndoDraft{Force: v.value("force") != ""}, 0
	for range undoParts {
		answer, err := s.services.Transfer.Undo(v.context(), v.value("id"), draft)
		if err != nil {
			return "", err
		}
		skipped += len(answer.Skipped)
		if draft.Cursor = answer.Next; draft.Cursor == "" {
			break
		}
	}
	code := "import-undone"
	switch {
	case draft.Cursor != "":
		code = "import-part"
	case skipped > 0:
		code = "import-skipped"
	}
	return link(importsPath, "done", code), nil
}
