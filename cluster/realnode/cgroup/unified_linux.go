package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wanted are the controllers of the second version that are used; time is measured without one.
func wanted() []string { return []string{memory, cpu, pids} }

// unifiedPlace is the place of the second version: below the nearest cgroup, from the own one up, whose children have
// all controllers. One that has to be told so first is the second choice, and the one with the most controllers the
// last.
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

// canHold says why a cgroup cannot get children that processes of this one are moved to.
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

// enabled are the wanted controllers that a cgroup's children have.
func enabled(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return nil
	}
	has := strings.Fields(string(text))
	return slices.DeleteFunc(wanted(), func(c string) bool { return !slices.Contains(has, c) })
}

// enable gives a cgroup's children the wanted controllers that it has, as far as that is possible: not where processes
// are.
func enable(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil
	}
	has, already := strings.Fields(string(text)), enabled(dir)
	for _, c := range wanted() {
		if slices.Contains(has, c) && !slices.Contains(already, c) {
			_ = write(dir, "cgroup.subtree_control", "+"+c) // what came of it is read
		}
	}
	return enabled(dir)
}
