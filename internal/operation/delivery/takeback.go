package delivery

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// restoreWebhooks restores the webhooks in the cluster that a killed run of slipway redirected to itself. A preview
// only warns of them.
func restoreWebhooks(ctx context.Context, s *operation.Session, cluster *ship.Cluster, preview bool) error {
	folder, err := operation.StateFolder(s)
	if err != nil {
		return err
	}
	if !preview {
		return dev.TakeBack(ctx, folder, cluster, s.Handler)
	}
	owed, err := dev.Owed(ctx, folder, cluster)
	for _, what := range owed {
		s.Handler.Handle(report.Warning{Text: what + "; without --dry-run and --diff this command restores that first"})
	}
	return err
}

// takeBackBeforeKubectl is takeBack for the cluster that kubectl's arguments name. A failure is only a warning: kubectl
// may be what the user needs to find the cause.
func takeBackBeforeKubectl(ctx context.Context, s *operation.Session, args []string) {
	folder, err := operation.StateFolder(s)
	if err != nil || !dev.Promised(folder) {
		return
	}
	k := ship.Kubeconfig{List: s.Getenv("KUBECONFIG"), Path: flagOf(args, "--kubeconfig"), Context: flagOf(args, "--context")}
	cluster, err := ship.Connect(k, s.Handler)
	if err == nil {
		err = dev.TakeBack(ctx, folder, cluster, s.Handler)
	}
	if err != nil {
		s.Handler.Handle(report.Warning{Text: "webhooks of an earlier slipway run are not restored yet: " + err.Error()})
	}
}

// flagOf returns the value of kubectl's flag, or "". It stops at the argument --.
func flagOf(args []string, name string) string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, joined := strings.CutPrefix(arg, name+"="); joined {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
