package client

// Context is router.ContextService over HTTP.
type Context struct{ c *Client }
