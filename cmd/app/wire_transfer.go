package app

import "context"

func (a *App) wireTransfer(_ context.Context, _ *parts) error { return nil }
