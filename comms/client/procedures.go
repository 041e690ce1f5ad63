package client

// Procedures is learning.ProcedureService over HTTP.
type Procedures struct{ c *Client }
