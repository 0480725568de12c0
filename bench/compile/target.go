package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A target is what is compiled: packages of a module.
type target struct {
	module   string
	packages []string
}

// referenceModule makes a module that may import the packages of imports.txt at the versions of ours.
func referenceModule(ctx context.Context, module, dir string) (target, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return target{}, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return target{}, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return target{}, err
		}
	}
	source := "package main\n\nimport (\n"
	for line := range strings.Lines(imports) {
		if path := strings.TrimSpace(line); path != "" && !strings.HasPrefix(path, "#") {
			source += fmt.Sprintf("\t_ %q\n", path)
		}
	}
	source += ")\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		return target{}, err
	}
	// What only the reference imports need not be in our go.sum.
	cmd := exec.CommandContext(ctx, "go", "list", "-C", dir, "-mod=mod", "-deps", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		return target{}, fmt.Errorf("load the reference's packages: %w\n%s", err, out)
	}
	return target{dir, []string{"."}}, nil
}

// list is a command that lists the target's packages and all that they import.
func (t target) list(ctx context.Context, flags ...string) *exec.Cmd {
	args := append([]string{"list", "-C", t.module, "-mod=mod", "-deps"}, flags...)
	return exec.CommandContext(ctx, "go", append(args, t.packages...)...)
}

// costs says what compiling a package took of the processors.
type costs map[string]time.Duration

// compile compiles the targets, one after the other, into a cache that is empty before and removed afterwards. Linking
// is left out: the packages are listed with their export data, for which the go command compiles them.
func compile(ctx context.Context, dir string, environment []string, targets ...target) (costs, error) {
	cache, actions := filepath.Join(dir, "cache"), filepath.Join(dir, "actions.json")
	defer func() { _ = os.RemoveAll(cache) }()
	spent := costs{}
	for _, t := range targets {
		cmd := t.list(ctx, "-export", "-debug-actiongraph="+actions)
		cmd.Env = append(append(os.Environ(), "GOCACHE="+cache), environment...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("compile %s: %w", t.packages, err)
		}
		if err := spent.add(actions); err != nil {
			return nil, err
		}
	}
	return spent, nil
}

var errNoCosts = errors.New("the go command told nothing of what its compilers took; does it still have -debug-actiongraph?")

// add reads what the go command did. A package that was in the cache cost nothing.
func (c costs) add(actions string) error {
	data, err := os.ReadFile(actions)
	if err != nil {
		return err
	}
	var list []struct {
		Mode, Package   string
		CmdUser, CmdSys time.Duration
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read the build's actions: %w", err)
	}
	before := len(c)
	for _, a := range list {
		if took := a.CmdUser + a.CmdSys; a.Mode == "build" && took > 0 {
			c[a.Package] += took
		}
	}
	if len(c) == before {
		return errNoCosts
	}
	return nil
}
