package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// apply measures apply configurations, after an edit and when nothing is there.
func apply(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	const packages = "./v1"
	dir, err := b.source(ctx, "source", packages, map[string]string{"": sourceModule})
	if err != nil {
		return nil, err
	}
	if err := markForApply(filepath.Join(dir, "v1", "doc.go")); err != nil {
		return nil, err
	}
	edited := contest{
		name: "apply configurations, one field changed", project: dir, paths: packages, generators: []string{"applyconfiguration"},
		bar: barApply, memory: barMemory,
		prepare: func(dir string, run int) error {
			return fieldIn(filepath.Join(dir, "v1", "gitrepository_types.go"), "GitRepositorySpec", run)
		},
	}
	first := edited
	first.name = "apply configurations, all to write"
	first.prepare = func(dir string, _ int) error {
		return errors.Join(os.RemoveAll(filepath.Join(dir, "v1", "applyconfiguration")), os.RemoveAll(b.cache))
	}
	var all []sidebyside.Figure
	for _, c := range []contest{edited, first} {
		figures, err := b.hold(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

var errNoClause = errors.New("no package clause in lines of its own")

// markForApply asks for the apply configurations of the package of a file.
func markForApply(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, after, found := bytes.Cut(text, []byte("\npackage "))
	if !found {
		return fmt.Errorf("%s: %w", path, errNoClause)
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%s\n// +kubebuilder:ac:generate=true\npackage %s", before, after), 0o644)
}
