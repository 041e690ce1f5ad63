package web

import (
	"net/http"
	"net/url"

	"github.com/skillrouter/skillrouter/internal/errs"
)

const loginPath = "/ui/login"

func (s *Server) loginPages() {
	s.loads[loginPath] = pageOf{path: loginPath, file: "login.html", title: "Log in", public: true, load: func(v *visit) (any, error) { return s.loginForm(v.value("next")), nil }}
	s.actions[loginPath] = action{back: loginPath, do: s.logIn, public: true}
	s.actions["/ui/logout"] = action{back: loginPath, do: s.logOut, public: true}
}

// loginForm is what the login page shows.
type loginForm struct {
	Next       string // where to go on to
	Passphrase bool   // one is set
}

func (s *Server) loginForm(next string) loginForm {
	return loginForm{Next: s.ownPath(next), Passphrase: s.services.Persons != nil && s.services.Persons.Stored().Hash != ""}
}

// logIn opens a session. Whoever may use no token cannot log in with one.
func (s *Server) logIn(v *visit) (string, error) {
	secret, passphrase := v.value("secret"), v.Form.Get("passphrase")
	v.Form.Del("secret") // no page shows them again
	v.Form.Del("passphrase")
	if secret == "" && passphrase == "" {
		return "", errs.InvalidField("token", "or the passphrase is required")
	}
	cookie, err := s.sessions.open(v.Context(), v.Request, secret, passphrase)
	if err != nil {
		return "", err
	}
	s.sessions.end(v.Request) // one browser, one session: the id is never one from before the login
	http.SetCookie(v.writer, cookie)
	return s.ownPath(v.value("next")), nil
}

func (s *Server) logOut(v *visit) (string, error) {
	http.SetCookie(v.writer, s.sessions.end(v.Request))
	return "/", nil
}

// askLogin shows the login page in the place of one that needs a login.
func (s *Server) askLogin(w http.ResponseWriter, r *http.Request) {
	next := "/"
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	s.write(s.visit(w, r, "Log in"), s.loads[loginPath], http.StatusUnauthorized, s.loginForm(next))
}

// ownPath returns where a login leads.
func (s *Server) ownPath(path string) string {
	return ownPath(path, func(page string) bool {
		_, ok := s.loads[page]
		_, old := described().Moved[page]
		return (ok || old) && page != loginPath
	})
}

// ownPath returns the path of a page that there is, with its query, and "/" in
// the place of anything else: a login leads to no other site.
func ownPath(path string, is func(page string) bool) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || len(path) > maxQuery || !is(u.Path) {
		return "/"
	}
	return u.RequestURI()
}
