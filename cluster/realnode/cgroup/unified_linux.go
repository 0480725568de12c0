package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wanted returns the controllers that limits need. Version 2 measures CPU time without a controller.
func wanted() []string { return []string{memory, cpu, pids} }

// unifiedPlace returns the place for version 2: the nearest cgroup, from this process's own upwards, whose children
// have all controllers. The second choice is one that can enable them all, and the last the one that can enable most.
func (m *mount) unifiedPlace(own string) (place, error) {
	at, err := m.folder(own)
	if err != nil {
		return place{}, err
	}
	var candidates []string
	var refusal error
	for dir := at; ; dir = filepath.Dir(dir) {
		if err := canHold(dir); err == nil {
			candidates = append(candidates, dir)
		} else if refusal == nil {
			refusal = err
		}
		if dir == m.at || len(dir) < len(m.at) {
			break
		}
	}
	if dir, controllers := choose(candidates); slices.Contains(controllers, memory) {
		p := place{unified: true, parents: map[string]string{}}
		for _, c := range controllers {
			p.parents[c] = dir
		}
		return p, nil
	}
	if refusal == nil {
		refusal = fmt.Errorf("none above %s has the controller of memory", at)
	}
	return place{}, fmt.Errorf("%w: %w", ErrForbidden, refusal)
}

// canHold returns an error if children of a cgroup cannot get processes that this process starts.
func canHold(dir string) error {
	if kind, err := os.ReadFile(filepath.Join(dir, "cgroup.type")); err == nil && strings.TrimSpace(string(kind)) != "domain" {
		return fmt.Errorf("%s is %s", dir, strings.TrimSpace(string(kind)))
	}
	return errors.Join(writable(dir), writable(filepath.Join(dir, "cgroup.procs")))
}

func choose(candidates []string) (best string, controllers []string) {
	for _, dir := range candidates {
		if has := enabled(dir); len(has) == len(wanted()) {
			return dir, has
		}
	}
	for _, dir := range candidates {
		if has := enable(dir); len(has) > len(controllers) {
			best, controllers = dir, has
		}
		if len(controllers) == len(wanted()) {
			break
		}
	}
	return best, controllers
}

// enabled returns the wanted controllers that a cgroup's children have.
func enabled(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return nil
	}
	has := strings.Fields(string(text))
	return slices.DeleteFunc(wanted(), func(c string) bool { return !slices.Contains(has, c) })
}

// enable enables the wanted controllers for a cgroup's children, as far as the kernel allows, and returns the enabled
// ones. The kernel refuses it for a cgroup with processes.
func enable(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil
	}
	has, already := strings.Fields(string(text)), enabled(dir)
	for _, c := range wanted() {
		if slices.Contains(has, c) && !slices.Contains(already, c) {
			_ = write(dir, "cgroup.subtree_control", "+"+c) // enabled reads the result
		}
	}
	return enabled(dir)
}
