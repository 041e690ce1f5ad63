package client

// Consolidation is learning.ConsolidationService over HTTP.
type Consolidation struct{ c *Client }
