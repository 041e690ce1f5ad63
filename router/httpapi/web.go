package httpapi

import (
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Dashboard is what people look at in a browser. Its cookies are taken on its
// own routes and on the feed's, and nowhere else: no other route does anything
// for whoever only has one.
type Dashboard interface {
	http.Handler
	// Routes lists the methods and paths that it serves. A path that ends in "/*" stands for all below it.
	Routes() iter.Seq2[string, string]
	// Principal says who the cookie of a request belongs to.
	Principal(r *http.Request) (principal.Principal, bool)
	// NotFound answers a browser that asks for a page that there is not.
	NotFound(w http.ResponseWriter, r *http.Request)
}

// formType is what browsers send forms as.
const formType = "application/x-www-form-urlencoded"

// feedPaths are the routes beside the dashboard's own that take its cookies: its pages follow the feed.
var feedPaths = []string{"GET /events", "GET /ws"}

// webRoutes mounts the dashboard.
func (s *Server) webRoutes() {
	if s.services.Web == nil {
		return
	}
	s.web = map[string]bool{}
	serve := func(c *gin.Context) {
		if c.Request.Method == http.MethodPost {
			control := http.NewResponseController(c.Writer)
			_ = control.SetReadDeadline(time.Now().Add(BodyTimeout)) // of the system's clock, as all deadlines of connections
			c.Request.Body = timely(c.Request.Body, control)
		}
		s.services.Web.ServeHTTP(c.Writer, c.Request)
	}
	for method, path := range s.services.Web.Routes() {
		if rest, ok := strings.CutSuffix(path, "/*"); ok {
			path = rest + "/*name"
		}
		s.engine.Handle(method, path, serve)
		s.web[method+" "+path] = true
	}
	for _, folder := range []string{"/ui", "/ui/"} { // what people type who saw the address of a page
		s.engine.GET(folder, func(c *gin.Context) { c.Redirect(http.StatusFound, "/") })
		s.web["GET "+folder] = true
	}
}

// isWeb tells whether the request is for the dashboard.
func (s *Server) isWeb(c *gin.Context) bool { return s.web[c.Request.Method+" "+c.FullPath()] }

// visitor returns who the cookie of a request for the dashboard or the feed belongs to. Whoever
// bears a token, right or wrong, is nobody's visitor.
func (s *Server) visitor(c *gin.Context) (principal.Principal, bool) {
	if s.services.Web == nil || c.GetHeader("Authorization") != "" {
		return principal.Principal{}, false
	}
	if !s.isWeb(c) && !slices.Contains(feedPaths, c.Request.Method+" "+c.FullPath()) {
		return principal.Principal{}, false
	}
	return s.services.Web.Principal(c.Request)
}

// mayLogIn tells whether a request without a principal still goes to the
// dashboard, which lets nobody see more than its login page.
func (s *Server) mayLogIn(c *gin.Context) bool {
	return s.services.Web != nil && s.isWeb(c) && c.GetHeader("Authorization") == ""
}

// notFound answers a browser with a page, and everybody else with a problem.
func (s *Server) notFound(c *gin.Context) {
	if s.services.Web != nil && c.Request.Method == http.MethodGet && strings.Contains(c.GetHeader("Accept"), "text/html") {
		c.Abort()
		s.services.Web.NotFound(c.Writer, c.Request)
		return
	}
	abort(c, refusal(http.StatusNotFound, errs.NotFound, "there is no "+c.Request.URL.Path+" here; docs/http-api.md lists what there is"))
}
