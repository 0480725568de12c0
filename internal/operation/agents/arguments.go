package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// The forms of arguments. None begins with a hyphen, so that no argument is taken for a flag; free text is always the
// value of a flag in the same word.
var (
	plainName  = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,252}$`)
	kindName   = lazy.Regexp(`^[A-Za-z][A-Za-z0-9.-]{0,252}$`)
	planID     = lazy.Regexp(`^[0-9a-f]{1,64}$`)
	testFolder = lazy.Regexp(`^\./[A-Za-z0-9_./-]*$|^\.$`)
)

// maxText bounds free text, such as a selector, in bytes; maxManifest a manifest.
const (
	maxText     = 4 << 10
	maxManifest = 1 << 20
)

// A form is what an argument has to be like.
type form struct {
	name, value string
	matches     func(string) bool
	expected    string
}

// checked refuses arguments that do not have their form. An empty argument is one that was not given.
func checked(forms ...form) error {
	for _, f := range forms {
		if f.value != "" && !f.matches(f.value) {
			return &report.Error{What: "the argument " + f.name + " has an unexpected form", Hint: "expected " + f.expected}
		}
	}
	return nil
}

func isName(name, value string) form {
	return form{name, value, plainName().MatchString, "the name of an object, without a leading hyphen"}
}

func isKind(name, value string) form {
	return form{name, value, kindName().MatchString, "a kind or resource, such as pods or deployments.apps"}
}

func isText(name, value string) form {
	return form{name, value, func(s string) bool { return len(s) <= maxText && !strings.ContainsRune(s, 0) }, "at most 4 KiB of text"}
}

// required refuses an argument that is missing.
func required(name, value string) error {
	if value == "" {
		return &report.Error{What: "the argument " + name + " is missing"}
	}
	return nil
}

// between refuses a number that is out of its bounds.
func between(name string, value, most int) error {
	if value < 0 || value > most {
		return &report.Error{What: "the argument " + name + " is out of bounds", Hint: fmt.Sprintf("expected 0 to %d", most)}
	}
	return nil
}

// file returns a name below the server's folder, with all links followed.
func (w *workshop) file(name string) (string, error) {
	if len(name) > maxText || strings.HasPrefix(name, "-") || strings.ContainsRune(name, 0) || filepath.IsAbs(name) {
		return "", &report.Error{What: "the argument file has an unexpected form", Hint: "expected a path below the project's folder"}
	}
	return w.folder.Resolve(name)
}

// read reads a file below the server's folder. The kernel keeps it there, whatever other processes do with links.
func (w *workshop) read(name string) (string, error) {
	name, err := w.file(name)
	if err != nil {
		return "", err
	}
	info, err := w.folder.Root().Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &report.Error{What: "this is no file", Where: name, Err: safefs.ErrNoFile}
	}
	f, err := w.folder.Root().Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = errManifest
	}
	return string(text), err
}

var errManifest = errors.New("the manifest is larger than 1 MiB")

// clusterArgument is the cluster that a tool is about.
type clusterArgument struct {
	Cluster string `json:"cluster,omitempty" jsonschema:"the name of one of slipway's clusters on this machine; default: default"`
}

// flag is the flag of slipway that names the cluster. It is always given: the current context decides nothing here.
func (c clusterArgument) flag() (string, error) {
	if err := checked(isName("cluster", c.Cluster)); err != nil {
		return "", err
	}
	if c.Cluster == "" {
		return "--cluster=" + clusters.DefaultCluster, nil
	}
	return "--cluster=" + c.Cluster, nil
}

// A refusal is the answer to a call that could not be made, because another one failed.
type refusal struct{ answer answer }

func (refusal) Error() string { return "the cluster cannot be reached" }

// reach writes a kubeconfig that has the cluster of a tool and no other, and returns its file.
func (t *turn) reach(ctx context.Context, c clusterArgument) (file string, err error) {
	if t.server != (Server{}) {
		return t.reachOther(ctx, c)
	}
	flag, err := c.flag()
	if err != nil {
		return "", err
	}
	file = filepath.Join(t.scratch, strings.TrimLeft(flag, "-"))
	o, err := t.slipway(ctx, call{args: []string{"cluster", "kubeconfig", flag, "--out=" + file}, clusters: true})
	if err == nil && o.code != 0 {
		err = refusal{t.answer(o)}
	}
	return file, err
}

// reachOther is [turn.reach] for the cluster that the command line names.
func (t *turn) reachOther(ctx context.Context, c clusterArgument) (string, error) {
	if c.Cluster != "" {
		return "", &report.Error{What: "slipway mcp was started for another cluster", Hint: "leave out the argument cluster"}
	}
	args := []string{"kubectl", "config", "view", "--raw", "--minify", "--flatten"}
	if t.server.Context != "" {
		args = append(args, "--context="+t.server.Context)
	}
	if t.server.Kubeconfig != "" {
		args = append(args, "--kubeconfig="+t.server.Kubeconfig)
	}
	o, err := t.slipway(ctx, call{args: args, clusters: true, plain: true})
	if err != nil {
		return "", err
	}
	if o.code != 0 {
		return "", refusal{t.answer(o)}
	}
	file := filepath.Join(t.scratch, "named")
	return file, safefs.WriteSecret(file, []byte(strings.Join(o.lines, "\n")+"\n"))
}

// count is a flag with a number, if that is not 0.
func count(flag string, number int) []string {
	if number == 0 {
		return nil
	}
	return []string{flag + "=" + strconv.Itoa(number)}
}

// valued is a flag with a text, if that is not empty.
func valued(flag, value string) []string {
	if value == "" {
		return nil
	}
	return []string{flag + "=" + value}
}

// given is a flag without a value, if it is wanted.
func given(flag string, wanted bool) []string {
	if !wanted {
		return nil
	}
	return []string{flag}
}
