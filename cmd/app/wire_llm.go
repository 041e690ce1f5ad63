package app

import "context"

func (a *App) wireLLM(_ context.Context, _ *parts) error { return nil }
