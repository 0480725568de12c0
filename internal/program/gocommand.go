package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
)

// goCommand is one run of the go command, whose lines on stderr are watched.
type goCommand struct {
	*product
	dir  string
	out  string // where it writes
	env  []string
	args []string
	// line is given each line and tells whether it was a message of progress;
	// others are kept for the error.
	line func(string) bool
}

// forHere has the go command build for this machine, in the module's own way, whatever the project at hand and the
// user's settings for it are: another platform, a workspace, a vendor folder, tags, a C compiler. So what is built
// follows from the sources and from Go alone, and shares its packages with the command itself.
func forHere(ctx context.Context) (*gocommand.Environment, []string, error) {
	env, err := gocommand.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return env, env.With("CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH), nil
}

// run runs the command. When ctx is done, it ends the command with everything
// that it started and returns ctx's error.
func (g goCommand) run(ctx context.Context) error {
	env, variables, err := forHere(ctx)
	if err != nil {
		return err
	}
	messages := &messages{line: g.line}
	err = gocommand.Command{Dir: g.dir, Env: append(variables, g.env...), Args: g.args, Stderr: messages}.Run(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return g.failed(env, messages.rest, err)
}

// failed explains why a command has failed.
func (g goCommand) failed(env *gocommand.Environment, lines []string, err error) error {
	if refused, ok := errors.AsType[*report.Error](err); ok {
		return refused
	}
	if e := env.Explain(strings.Join(lines, "\n"), g.out); e != nil {
		return e
	}
	return buildError(g.product, g.dir, g.args, lines, err)
}

// messages takes what the go command writes, in pieces of any size, apart into lines. It
// is a writer so that [exec.Cmd] reads the pipe: a compiler that outlives an
// interrupt and holds the pipe must not be waited for.
type messages struct {
	line    func(string) bool
	partial []byte
	rest    []string // lines that did not tell progress
}

func (m *messages) Write(p []byte) (int, error) {
	m.partial = append(m.partial, p...)
	for {
		line, after, ended := bytes.Cut(m.partial, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		m.partial = after
		if text := strings.TrimRight(string(line), "\r"); !m.line(text) && strings.TrimSpace(text) != "" {
			m.rest = append(m.rest, text)
		}
	}
}

// goOutput runs a go command for its standard output; more are further variables.
func goOutput(ctx context.Context, p *product, dir string, more []string, args ...string) ([]byte, error) {
	env, variables, err := forHere(ctx)
	if err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	err = gocommand.Command{Dir: dir, Env: append(variables, more...), Args: args, Stdout: &out, Stderr: &said}.Run(ctx)
	if err == nil || ctx.Err() != nil {
		return out.Bytes(), err
	}
	var lines []string
	if text := strings.TrimSpace(said.String()); text != "" {
		lines = strings.Split(text, "\n")
	}
	return out.Bytes(), goCommand{product: p, dir: dir, args: args}.failed(env, lines, err)
}

// fetchModule gets the product's module at version and returns its folder; hint is what helps if it cannot be had. It
// does so outside of every module: the go command would read the go.mod of the folder that slipway was called in, and
// fail over its mistakes.
func fetchModule(ctx context.Context, p *product, version, hint string) (dir string, err error) {
	out, err := goOutput(ctx, p, string(filepath.Separator), nil, "mod", "download", "-json", p.module+"@"+version)
	var answer struct{ Dir, Error string }
	if json.Unmarshal(out, &answer) == nil && answer.Error != "" {
		return "", &report.Error{What: p.what + "'s sources cannot be downloaded", Where: p.module + "@" + version,
			Err: errors.New(answer.Error), Hint: hint, Next: "go env GOPROXY"}
	}
	if err == nil && answer.Dir == "" {
		err = fmt.Errorf("go mod download reported no folder for %s@%s", p.module, version)
	}
	return answer.Dir, err
}

// listPackages asks which packages the programs in dir consist of and which of
// them are yet to be compiled in the way of r.
func listPackages(ctx context.Context, p *product, dir string, r recipe) ([]pkg, error) {
	const format = "{{.ImportPath}}\t{{.Stale}}"
	out, err := goOutput(ctx, p, dir, r.env, slices.Concat([]string{"list", "-deps", "-f", format}, r.alike, mains(p.programs))...)
	if err != nil {
		return nil, err
	}
	return parsePackages(string(out)), nil
}
