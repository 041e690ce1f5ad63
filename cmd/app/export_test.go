package app

import (
	"context"

	"skillrouter/router/httpapi"
)

// DoctorCheck is a line of doctor.
type DoctorCheck = httpapi.Check

// DataOf, HealthOf and DoctorOf are for tests that look past authentication.
func DataOf(a *App) string                                 { return a.config.Data }
func HealthOf(ctx context.Context, a *App) httpapi.Health  { return a.health(ctx) }
func DoctorOf(ctx context.Context, a *App) []httpapi.Check { return a.doctor(ctx) }
