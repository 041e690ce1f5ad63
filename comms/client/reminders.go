package client

// Reminders is operational.ReminderService over HTTP.
type Reminders struct{ c *Client }
