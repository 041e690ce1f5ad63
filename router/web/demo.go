package web

import (
	"context"
	"net/http"
)

const (
	demoPath = "/ui/demo"
	// demoSetting is the cookie of a browser that looks at the demo, its name without the port: see portOf.
	demoSetting = "skillrouter_demo"
	demoShown   = "on"
)

// Demo is a router of its own with a team at work. A browser that asked for it sees that router's pages in the place of
// this one's, so that there is something to see before there is anything; nothing of it is among this router's rows.
type Demo interface {
	// Begin puts the demo's data in, unless it is there. It needs ScopeCaptain.
	Begin(ctx context.Context) error
	// End takes it out again, all of it. It needs ScopeCaptain.
	End(ctx context.Context) error
	// Dashboard is what shows it; nil: it is not there.
	Dashboard() http.Handler
}

func (s *Server) demoPages() {
	if s.services.Demo == nil {
		return
	}
	s.notices["demo-ended"] = "The demo data is gone. These are your own router’s pages."
	s.action(demoPath+"/begin", settingsPath, func(v *visit) (string, error) {
		if err := s.services.Demo.Begin(v.Context()); err != nil {
			return "", err
		}
		v.keep(demoSetting, demoShown)
		return "/", nil
	})
	s.action(demoPath+"/end", settingsPath, func(v *visit) (string, error) {
		if err := s.services.Demo.End(v.Context()); err != nil {
			return "", err
		}
		v.keep(demoSetting, "")
		return "/?done=demo-ended", nil
	})
}

// shownInstead is the demo's dashboard, if the browser looks at it. Whoever has not logged in here sees nothing of it.
func (s *Server) shownInstead(r *http.Request) http.Handler {
	if s.services.Demo == nil || s.options.Demo || !identified(r) || setting(r, demoSetting) != demoShown {
		return nil
	}
	return s.services.Demo.Dashboard()
}
