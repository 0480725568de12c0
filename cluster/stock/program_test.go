package stock

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/cluster/controllers"
)

// TestLookup: a process is what it was called as, by whatever path and on any system.
func TestLookup(t *testing.T) {
	for name, want := range map[string]Program{
		"etcd": Etcd, "/usr/local/bin/etcd": Etcd, "kube-apiserver": KubeAPIServer, "./kube-apiserver.exe": KubeAPIServer, "kubectl": Kubectl,
		"slipway-cluster": nil, "etcdctl": nil, "": nil,
	} {
		got, ok := Lookup(name)
		if ok != (want != nil) || reflect.ValueOf(got).Pointer() != reflect.ValueOf(want).Pointer() {
			t.Errorf("%q: %v", name, ok)
		}
	}
}

// TestFlagsOfTheAPIServer are upstream's, unless they are gone: then what took their place is told.
func TestFlagsOfTheAPIServer(t *testing.T) {
	for _, tt := range []struct{ flag, want string }{
		{"--etcd-servers=http://127.0.0.1:1", ""},
		{"--insecure-port=8080", "removed from Kubernetes; the insecure port was removed; use --secure-port"},
		{"--no-such-flag", "unknown flag: --no-such-flag"},
		{"--max-requests-inflight=many", "invalid argument"},
	} {
		cmd := newAPIServerCommand()
		err := cmd.ParseFlags([]string{tt.flag})
		if err != nil {
			err = cmd.FlagErrorFunc()(cmd, err)
		}
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.flag, err, tt.want)
		}
	}
	other := errors.New("other")
	if err := explainFlag(nil, other); !errors.Is(err, other) {
		t.Error(err)
	}
}

// TestFlagsThatAreGoneAreGone: what upstream has again is none of them.
func TestFlagsThatAreGoneAreGone(t *testing.T) {
	flags := newAPIServerCommand().Flags()
	for name := range removedFlags {
		if flags.Lookup(name) != nil {
			t.Errorf("--%s is there", name)
		}
	}
}

func TestNoWords(t *testing.T) {
	cmd := &cobra.Command{Use: "kube-apiserver"}
	if err := noWords(cmd, []string{"", ""}); err != nil {
		t.Error(err)
	}
	if err := noWords(cmd, []string{"serve"}); err == nil || !strings.Contains(err.Error(), `"kube-apiserver" does not take any arguments`) {
		t.Error(err)
	}
	for _, args := range [][]string{{"-h"}, {"--v=1", "--help"}} {
		if !asksForHelp(args) {
			t.Errorf("%q asks for help", args)
		}
	}
	if asksForHelp([]string{"--helpful"}) {
		t.Error("--helpful asks for help")
	}
}

func TestControllersAreAskedFor(t *testing.T) {
	all := len(controllers.All())
	for value, want := range map[string]int{"": 0, "0": 0, "false": 0, "true": all, "1": all, "*": all, "gc,namespace": 6, "*,-job": all - 1} {
		t.Setenv(controllersVariable, value)
		if list, err := wantedControllers(); len(list) != want || err != nil {
			t.Errorf("%q: %d controllers, want %d; %v", value, len(list), want, err)
		}
	}
	t.Setenv(controllersVariable, "gcc")
	if _, err := wantedControllers(); !errors.Is(err, controllers.ErrUnselectable) || !strings.Contains(err.Error(), controllersVariable) {
		t.Errorf("an unknown one: %v", err)
	}
}
