// Package operational defines what operational.db holds: agents and what they do, the messages between
// them, tasks, reminders, escalations, the findings of scans, and tokens. It owns the states of each
// and who may change them. It knows neither SQL, HTTP nor package learning.
package operational
