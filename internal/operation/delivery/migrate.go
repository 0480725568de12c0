package delivery

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// MigrateTimeout is the default time for all objects of a kind to be stored anew.
const MigrateTimeout = time.Hour

// A Migration is a kind whose objects are to be stored in one version, and the cluster that has them.
type Migration struct {
	Of     Target
	Kind   string // any name of its definition
	To     string // the version; "" is the one in which the definition stores
	DryRun bool
}

// Migrate stores all objects of a kind in the version in which its definition stores, and returns what it did.
func Migrate(ctx context.Context, s *operation.Session, m Migration) (ship.Migrated, error) {
	cluster, err := connect(ctx, s, m.Of, m.DryRun)
	if err != nil {
		return ship.Migrated{}, err
	}
	begin := time.Now()
	done, err := cluster.Migrate(ctx, ship.Migration{Kind: m.Kind, To: m.To, Timeout: cmp.Or(m.Of.Timeout, MigrateTimeout), DryRun: m.DryRun})
	if err != nil {
		return done, err
	}
	s.Handler.Handle(report.Result{Text: migratedText(done, time.Since(begin)), Value: done})
	return done, nil
}

// migratedText is the result of a migration in a line.
func migratedText(done ship.Migrated, took time.Duration) string {
	switch {
	case len(done.From) == 0:
		return "nothing to do: all objects of " + done.Definition + " are stored as " + done.To
	case done.DryRun:
		return fmt.Sprintf("%s of %s may be stored as %s and would be stored as %s", operation.Count(done.Objects, "object"), done.Definition, strings.Join(done.From, ", "), done.To)
	}
	what := "all objects"
	if done.By == "slipway" {
		what = operation.Count(done.Objects, "object")
	}
	return fmt.Sprintf("%s: %s stored as %s, none as %s (%s)", done.Definition, what, done.To, strings.Join(done.From, ", "), took.Round(time.Millisecond))
}
