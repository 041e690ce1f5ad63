package app

import "context"

func (a *App) wireMesh(_ context.Context, _ *parts) error { return nil }
