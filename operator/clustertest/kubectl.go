package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/find"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/process"
)

// Kubectl runs the real kubectl as the cluster's administrator, and returns its standard output. It is the one beside
// the cluster program, or else the one in the folder that KUBEBUILDER_ASSETS names, as `slipway test` sets it. The
// error of a kubectl that fails has what it wrote to standard error: a test compares what a user would read.
//
//	out, err := c.Kubectl(t, "get", "guestbooks", "--namespace", ns)
//
// An API server publishes the schema of a new kind a moment after it serves the kind. kubectl explain is run when it
// has.
func (c *Cluster) Kubectl(t testing.TB, args ...string) (output string, err error) {
	t.Helper()
	program, err := find.Program(t.Context(), os.Getenv, os.Stderr)
	if err != nil {
		fatal(t, err)
	}
	kubectl, compiled, err := findKubectl(program, os.Getenv)
	if err == nil && !compiled {
		err = compileKubectl(t.Context(), kubectl, c.Kubeconfig(), os.Stderr)
	}
	if err != nil {
		fatal(t, err)
	}
	if slices.Contains(args, "explain") {
		if err := c.published(t.Context()); err != nil {
			fatal(t, err)
		}
	}
	var stdout, stderr bytes.Buffer
	cache := filepath.Join(c.dir, "kubectl", c.logical)
	cmd, err := process.Command(t.Context(), kubectl, append([]string{"--kubeconfig=" + c.Kubeconfig(), "--cache-dir=" + cache}, args...)...)
	if err != nil {
		fatal(t, err)
	}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// Manifest writes an object into a file that is removed with t, for kubectl create and apply: what the API server
// refuses is refused in the words that a user reads. An object without a kind gets the one that [Scheme] has for its
// type.
//
//	_, err := c.Kubectl(t, "create", "--filename", c.Manifest(t, guestbook))
func (c *Cluster) Manifest(t testing.TB, object client.Object) (path string) {
	t.Helper()
	kind, err := apiutil.GVKForObject(object, c.settings.scheme)
	if err != nil {
		fatal(t, err)
	}
	named := object.DeepCopyObject()
	named.GetObjectKind().SetGroupVersionKind(kind)
	text, err := json.Marshal(named)
	if err != nil {
		fatal(t, err)
	}
	path = filepath.Join(t.TempDir(), "object.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		fatal(t, err)
	}
	return path
}

// assetsVariable is where envtest has its programs.
const assetsVariable = "KUBEBUILDER_ASSETS"

// findKubectl returns the kubectl for a cluster program. Compiled is false if that may be slipway itself, which has the
// name among envtest's programs until it has compiled kubectl.
func findKubectl(program string, getenv func(string) string) (path string, compiled bool, err error) {
	end := ""
	if runtime.GOOS == "windows" {
		end = ".exe"
	}
	path = filepath.Join(filepath.Dir(program), "slipway-kubectl"+end)
	_, err = os.Stat(path)
	if folder := getenv(assetsVariable); folder != "" && errors.Is(err, fs.ErrNotExist) {
		asset := filepath.Join(folder, "kubectl"+end)
		if _, absent := os.Stat(asset); absent == nil {
			return asset, false, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, &fault.Error{What: "there is no kubectl beside the cluster program", Where: path, Err: fs.ErrNotExist,
			Hint: "slipway cluster build compiles both", Next: "export " + find.Variable + "=$(slipway cluster build)"}
	}
	return path, true, err
}

// compileKubectl has slipway compile the kubectl that it stands for, before a test calls it: neither what slipway
// writes to progress meanwhile nor its failure is kubectl's answer.
func compileKubectl(ctx context.Context, kubectl, kubeconfig string, progress io.Writer) error {
	cmd, err := process.Command(ctx, kubectl, "--kubeconfig="+kubeconfig, "version", "--client")
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stderr = io.MultiWriter(&stderr, progress)
	if err := cmd.Run(); err != nil {
		return &fault.Error{What: "kubectl cannot be used", Where: kubectl, Err: err, Hint: strings.TrimSpace(stderr.String()), Next: "slipway cluster build"}
	}
	return nil
}
