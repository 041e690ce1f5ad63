package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"skillrouter/cmd/config"
	"skillrouter/internal/errs"
	"skillrouter/router"
	"skillrouter/router/webhook"
)

const (
	// webhookSecretName and webhookStateName are the files in the data folder of what the webhook signs with, unless the settings name
	// another, and of what it told.
	webhookSecretName = "webhook.secret"
	webhookStateName  = "webhook.json"
)

// wireWebhook tells of what newly waits, if the settings ask for it.
func (a *App) wireWebhook(ctx context.Context, p *parts) error {
	if a.config.Webhook == "" {
		return nil
	}
	secret, err := webhookSecret(a.config.WebhookSecretFile())
	if err != nil {
		return err
	}
	path := filepath.Join(a.config.Data, webhookStateName)
	state, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read what the webhook told: %w", err)
	}
	hook := webhook.New(a.config.Webhook, p.decisions, webhook.Options{
		Secret: secret, Dashboard: a.URL() + "/ui/inbox", State: state, Save: func(state []byte) error { return putSynced(path, state) },
		Changed: p.feed.FeedBell(), Now: a.now, Log: a.log,
	})
	a.services.webhook = hook
	a.life.run(ctx, "webhook", hook.Run)
	return nil
}

// webhookSecret returns what messages are signed with, making it at the first start.
func webhookSecret(path string) (webhook.Secret, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(webhook.NewSecret() + "\n")
		err = putSynced(path, text)
	}
	if err != nil {
		return webhook.Secret{}, errs.Wrap(errs.Invalid, err, "webhook_secret_file: %v", err)
	}
	return webhook.ParseSecret(string(text))
}

// checkWebhook says whether the receiver takes what it is sent.
func (a *App) checkWebhook() []router.SystemCheck {
	if a.services.webhook == nil {
		return nil
	}
	status, to := a.services.webhook.Status(), webhook.Host(a.config.Webhook)
	c := router.SystemCheck{Name: "webhook", OK: status.Attempts == 0, Detail: fmt.Sprintf("%s took %d messages since the start, %d were given up", to, status.Sent, status.Dropped)}
	if !c.OK {
		c.Detail = fmt.Sprintf("%s did not take a message in %d attempts: %s", to, status.Attempts, status.Error)
	}
	return []router.SystemCheck{c}
}

// checkAirgapped refuses settings that let a connection leave this machine, where the setting airgapped forbids it.
func checkAirgapped(c config.Config) error {
	if !c.Airgapped {
		return nil
	}
	var leaving []string
	for _, place := range Outbounds(c) {
		if place.Leaves {
			leaving = append(leaving, fmt.Sprintf("%s (%s)", place.Setting, place.Target))
		}
	}
	if len(leaving) == 0 {
		return nil
	}
	return errs.InvalidField("airgapped", "is true, and these settings let a connection leave this machine: %s. Unset them, or airgapped", strings.Join(leaving, ", "))
}
