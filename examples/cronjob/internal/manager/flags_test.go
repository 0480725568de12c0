// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestWatchedNamespaces(t *testing.T) {
	for list, want := range map[string][]string{
		"":       nil, // all
		"a":      {"a"},
		"a,b":    {"a", "b"},
		" a, b ": {"a", "b"},
		"a,":     {"a"},
		",a,,":   {"a"},
	} {
		t.Setenv("WATCH_NAMESPACE", list)
		options, err := new(Flags).Options(runtime.NewScheme())
		if err != nil {
			t.Errorf("%q: %v", list, err)
		}
		if got := slices.Sorted(maps.Keys(options.Cache.DefaultNamespaces)); !slices.Equal(got, want) {
			t.Errorf("%q: the manager watches %q, want %q", list, got, want)
		}
	}
}

// A list without a name must not let the manager watch all namespaces.
func TestNoWatchedNamespace(t *testing.T) {
	for _, list := range []string{",", " ", " , ,"} {
		t.Setenv("WATCH_NAMESPACE", list)
		if _, err := new(Flags).Options(runtime.NewScheme()); err == nil {
			t.Errorf("%q is taken", list)
		}
	}
}

// In a pod the log is JSON without debugging, elsewhere it is for people; flags decide before that.
func TestLog(t *testing.T) {
	for _, test := range []struct {
		name, host  string
		args        []string
		json, debug bool
	}{
		{name: "on a machine", debug: true},
		{name: "in a pod", host: "10.96.0.1", json: true},
		{name: "in a pod, for people", host: "10.96.0.1", args: []string{"--zap-devel"}, debug: true},
		{name: "in a pod, with debugging", host: "10.96.0.1", args: []string{"--zap-log-level=debug"}, json: true, debug: true},
		{name: "on a machine, for programs", args: []string{"--zap-encoder=json"}, json: true, debug: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBERNETES_SERVICE_HOST", test.host)
			flags, set, log := &Flags{}, flag.NewFlagSet("", flag.ContinueOnError), &strings.Builder{}
			flags.Bind(set)
			if err := set.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			flags.log.DestWriter = log
			logger := flags.Logger()
			logger.Info("hello")
			if got := strings.HasPrefix(log.String(), "{"); got != test.json {
				t.Errorf("JSON: %v, want %v: %s", got, test.json, log)
			}
			if got := logger.V(1).Enabled(); got != test.debug {
				t.Errorf("debugging: %v, want %v", got, test.debug)
			}
		})
	}
}

// A reconciler reads what it has written, unless the manager watches several namespaces: there controller-runtime
// cannot tell.
func TestReadYourWrites(t *testing.T) {
	for list, want := range map[string]bool{"": true, "a": true, "a,b": false} {
		t.Setenv("WATCH_NAMESPACE", list)
		options, err := new(Flags).Options(runtime.NewScheme())
		if err != nil {
			t.Fatal(err)
		}
		if got := *options.Client.Cache.EnableReadYourWritesConsistency; got != want {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
	}
}
