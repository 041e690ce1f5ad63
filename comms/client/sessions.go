package client

// Sessions is router.SessionService over HTTP.
type Sessions struct{ c *Client }
