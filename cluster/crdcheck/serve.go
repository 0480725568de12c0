package crdcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Protocol is the number of the form of questions and answers. It grows when either changes.
const Protocol = 3

// Kubernetes is the version whose API server would say the same. It equals the version of the libraries in go.mod,
// which a test checks.
const Kubernetes = "1.37.1"

// question is what the program is asked: about Files to check, about Samples of the definitions in Files, or about what
// After changes in Before to compare.
type question struct {
	Files   []File `json:"files,omitempty"`
	Samples []File `json:"samples,omitempty"`
	Before  []File `json:"before,omitempty"`
	After   []File `json:"after,omitempty"`
}

// answer is what the program says.
type answer struct {
	Protocol   int       `json:"protocol"`
	Kubernetes string    `json:"kubernetes"`
	Findings   []Finding `json:"findings,omitempty"`
	Changes    []Change  `json:"changes,omitempty"`
}

// errUsage is how the program is called.
var errUsage = errors.New("usage: slipway-check check|samples|compare|version")

// Serve answers one question: args name it, in has its content, and out gets the answer.
func Serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 1 {
		return errUsage
	}
	a := answer{Protocol: Protocol, Kubernetes: Kubernetes}
	var q question
	if args[0] != "version" {
		if err := json.NewDecoder(in).Decode(&q); err != nil {
			return fmt.Errorf("the request is not JSON: %w", err)
		}
	}
	var err error
	switch args[0] {
	case "version":
	case "check":
		a.Findings = checkAll(ctx, q.Files)
	case "samples":
		a.Findings = CheckSamples(ctx, q.Files, q.Samples)
	case "compare":
		a.Changes, err = Compare(ctx, q.Before, q.After)
	default:
		err = errUsage
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(a)
}

// checkAll checks files side by side and returns the findings in their order.
func checkAll(ctx context.Context, files []File) []Finding {
	each := make([][]Finding, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			each[i] = Check(ctx, f)
			return nil
		})
	}
	_ = group.Wait() // findings are no errors
	var all []Finding
	for _, findings := range each {
		all = append(all, findings...)
	}
	return all
}
