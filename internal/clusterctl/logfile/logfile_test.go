package logfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl/logfile"
)

// at is an entry written at a second.
func at(second, text string) string { return "2026-01-02T15:04:" + second + ".000000Z " + text + "\n" }

type folder struct {
	t   *testing.T
	dir string
}

func (f folder) write(name, text string) {
	f.t.Helper()
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(filepath.Join(f.dir, from), filepath.Join(f.dir, to)); err != nil {
		f.t.Fatal(err)
	}
}

// want reads what is new and wants these messages, each with the first letter of its component.
func (f folder) want(l *logfile.Logs, want ...string) {
	f.t.Helper()
	entries, err := l.Read()
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Component[:1]+" "+e.Level+" "+e.Message)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		f.t.Errorf("got %q, want %q", got, want)
	}
}

func TestMerge(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("etcd.log", at("02", "I second")+at("04", "E fourth"))
	f.write("nodes.log", "no beginning\n"+at("01", "W first")+"\tgoes on\n"+at("03", "I third"))
	l := logfile.Of(f.dir, "etcd", "nodes", "missing")
	f.want(l, "n W first\n\tgoes on", "e I second", "n I third", "e E fourth")
	f.want(l)
	f.write("missing.log", at("05", "I here"))
	f.write("etcd.log", "2026-01-02T15:04:06.0000")
	f.want(l, "m I here")
	f.write("etcd.log", "00Z I whole\n")
	f.want(l, "e I whole")
}

func TestRotation(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("etcd.log.1", at("01", "I old"))
	f.write("etcd.log", at("02", "I new"))
	l := logfile.Of(f.dir, "etcd")
	f.want(l, "e I old", "e I new")
	f.write("etcd.log", at("03", "I last"))
	f.rename("etcd.log", "etcd.log.1")
	f.write("etcd.log", at("04", "I next"))
	f.want(l, "e I last", "e I next")

	// A new run begins with an empty log.
	if err := os.Truncate(filepath.Join(f.dir, "etcd.log"), 0); err != nil {
		t.Fatal(err)
	}
	f.want(l)
	f.write("etcd.log", at("05", "I again"))
	f.want(l, "e I again")
}
