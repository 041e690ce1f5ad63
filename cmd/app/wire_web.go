package app

import "context"

func (a *App) wireWeb(_ context.Context, _ *parts) error { return nil }
