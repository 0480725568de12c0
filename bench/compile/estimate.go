package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is the amount of code outside the standard library.
type source struct {
	packages int
	bytes    int64
}

// tellEstimate compares the amounts of code that would be compiled.
func tellEstimate(ctx context.Context, ours, reference target) error {
	a, err := ours.source(ctx)
	if err != nil {
		return err
	}
	b, err := reference.source(ctx)
	if err != nil {
		return err
	}
	const megabyte = 1e6
	fmt.Printf("| estimate by source code | slipway | reference | ratio |\n|---|---|---|---|\n"+
		"| packages | %d | %d | %.3f |\n| source, MB | %.1f | %.1f | %.3f |\n",
		a.packages, b.packages, float64(a.packages)/float64(b.packages),
		float64(a.bytes)/megabyte, float64(b.bytes)/megabyte, float64(a.bytes)/float64(b.bytes))
	return nil
}

func (t target) source(ctx context.Context) (source, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-C", t.module, "-deps", "-json=ImportPath,Dir,GoFiles,Standard"}, t.packages...)...)
	out, err := cmd.Output()
	if err != nil {
		return source{}, fmt.Errorf("list packages: %w", err)
	}
	var sum source
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir      string
			GoFiles  []string
			Standard bool
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return source{}, err
		}
		if p.Standard {
			continue
		}
		sum.packages++
		for _, name := range p.GoFiles {
			info, err := os.Stat(filepath.Join(p.Dir, name))
			if err != nil {
				return source{}, err
			}
			sum.bytes += info.Size()
		}
	}
}
