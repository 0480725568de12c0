package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// versionFile holds the constant that names the embedded version; the command, which shares
// no code with the program, has it in commandFile once more.
const (
	versionFile = "cluster/version/version.go"
	commandFile = "internal/setupenvtest/version.go"
)

var versionConstant = regexp.MustCompile(`(?m)^const Kubernetes = "([0-9.]+)"$`)

// embedded is the version that is embedded now, without its v.
func embedded() (string, error) {
	data, err := os.ReadFile(versionFile)
	if err != nil {
		return "", fmt.Errorf("%w (run this in the repository's root folder)", err)
	}
	found := versionConstant.FindSubmatch(data)
	if found == nil {
		return "", fmt.Errorf("%s has no constant Kubernetes", versionFile)
	}
	return string(found[1]), nil
}

// committed is the version before an upgrade that is under way, which may have been interrupted; without a repository
// it is the present one.
func committed(ctx context.Context, present string) string {
	out, err := output(ctx, "git", "show", "HEAD:"+versionFile)
	if found := versionConstant.FindSubmatch(out); err == nil && found != nil {
		return string(found[1])
	}
	return present
}

func writeVersion(to string) error {
	constant := fmt.Sprintf("const Kubernetes = %q", strings.TrimPrefix(to, "v"))
	for _, file := range []string{versionFile, commandFile} {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if !versionConstant.Match(data) {
			return fmt.Errorf("%s has no constant Kubernetes", file)
		}
		say("%s: %s", file, constant)
		if err := os.WriteFile(file, versionConstant.ReplaceAll(data, []byte(constant)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// mentions lists the files that name a version, also within a regular expression, with the number of lines, but for
// those that list modules.
func mentions(ctx context.Context, version string) []string {
	out, err := output(ctx, "git", "grep", "-nFI", "-e", version, "-e", regexp.QuoteMeta(version), "--", ".", ":!*go.sum", ":!*go.mod", ":!*.tmpl", ":!cluster/internal/wiring")
	if err != nil {
		return nil // none, or no repository
	}
	lines := map[string]int{}
	for line := range strings.Lines(string(out)) {
		file, _, _ := strings.Cut(line, ":")
		lines[file]++
	}
	var places []string
	for _, file := range slices.Sorted(maps.Keys(lines)) {
		places = append(places, fmt.Sprintf("%s (%d)", file, lines[file]))
	}
	return places
}

func say(format string, args ...any) { fmt.Printf("bump-kubernetes: "+format+"\n", args...) }

// show runs a command whose output the user sees.
func show(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// output runs a command and returns what it prints, also when it fails.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		return out, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return out, err
}
