package clustertest

import (
	"context"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/manifest"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/modulekinds"
)

// definitionsVariable names a file of definitions that every cluster begins with. `slipway test --dependencies` sets
// it.
const definitionsVariable = "SLIPWAY_DEFINITIONS"

// installDependencies installs the definitions of other modules' kinds: those that the environment has, and with
// [Dependencies] those of the scheme.
func (c *Cluster) installDependencies(ctx context.Context) error {
	var given []*unstructured.Unstructured
	if file := os.Getenv(definitionsVariable); file != "" {
		var err error
		if given, err = manifest.Read(manifest.CRDs, file); err != nil {
			return err
		}
	}
	if c.settings.others != nil {
		found, err := modulekinds.Find(ctx, "", modulekinds.Of(c.settings.scheme, *c.settings.others...), given)
		if err != nil {
			return err
		}
		given = append(given, found...)
	}
	if len(given) == 0 {
		return nil
	}
	return c.define(ctx, given)
}
