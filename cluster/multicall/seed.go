package multicall

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"

	"github.com/slipway-dev/slipway/cluster/collector"
	"github.com/slipway-dev/slipway/cluster/seed"
	"github.com/slipway-dev/slipway/cluster/serve"
)

// runSeed records the seed of the embedded Kubernetes version.
func runSeed(ctx context.Context, env Env, args []string) int {
	var output string
	if status, done := parse(env, "seed", args, func(f *flag.FlagSet) {
		f.StringVar(&output, "output", "", "the `file` to write")
	}); done {
		return status
	}
	if output == "" {
		return complain(env, statusUsage, errors.New("seed needs --output FILE"))
	}
	collector.Resume()
	recorded, err := serve.RecordSeed(untilSignal(ctx), env.Stderr)
	if err != nil {
		return complain(env, statusFailed, err)
	}
	var encoded bytes.Buffer
	if err := seed.Encode(&encoded, recorded); err != nil {
		return complain(env, statusFailed, err)
	}
	if err := os.WriteFile(output, encoded.Bytes(), 0o644); err != nil {
		return complain(env, statusFailed, err)
	}
	return statusOK
}
