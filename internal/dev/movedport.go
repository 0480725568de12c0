package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// serverPackage has controller-runtime's server of webhooks, with the port at which it listens unless the manager's
// code names one.
const serverPackage = "sigs.k8s.io/controller-runtime/pkg/webhook"

// movedSource is a file of the manager's package that changes that port.
const movedSource = `package main

import slipwayWebhook "` + serverPackage + `"

func init() { slipwayWebhook.DefaultPort = %s }
`

// lastMoved bounds the ports that are tried. They are few, so that the go command finds in its cache what it has
// compiled for one of them.
const lastMoved = 9499

// buildPrefix begins the names of folders with such files, in the user's cache.
const buildPrefix = "build-"

// A move has a manager serve its webhooks at another port than the usual one although it has no flag for it, since two
// such managers cannot run on one machine. It is compiled with one more file, which is in no folder of the project: see
// -overlay in `go help build`.
type move struct {
	port    string // the usual one: the manager stays where it is
	scratch userdirs.Scratch
}

// moved prepares a build of the package of a manager, at the port of an earlier build, or at a free one if the usual
// port is taken. A manager that chooses its port itself, or serves no webhooks, is not moved.
func (o Options) moved(ctx context.Context, pkg string) (move, error) {
	m := move{port: o.WebhookPort}
	if m.port == "" {
		m.port = webhookPort
		if taken(":"+webhookPort) && o.movable(ctx, pkg) {
			m.port = freePort()
		}
	}
	if m.stays() {
		return m, nil
	}
	if err := m.write(o, filepath.Join(o.Dir, filepath.FromSlash(pkg)), fmt.Appendf(nil, movedSource, m.port)); err != nil {
		return move{}, errors.Join(fmt.Errorf("move the manager's webhooks: %w", err), m.done())
	}
	if o.WebhookPort == "" {
		o.Handler.Handle(report.Note{Text: "port " + webhookPort + " is taken, and the manager has no flag --" + webhookPortFlag + ": it is compiled to serve them at port " + m.port + ", unless its code or its configuration names a port"})
	}
	return m, nil
}

// write writes the further file of the package in a folder: where no other user of the machine can change it.
func (m *move) write(o Options, folder string, text []byte) error {
	cache, err := userdirs.Cache(func(name string) string { return lookup(o.Env, name) })
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	userdirs.Sweep(cache, buildPrefix)
	if m.scratch, err = userdirs.ScratchIn(cache, buildPrefix); err != nil {
		return err
	}
	source := filepath.Join(m.scratch.Path, "port.go")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		return err
	}
	const name = "zz_slipway_port.go"
	files := map[string]string{filepath.Join(folder, name): source}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		files[filepath.Join(real, name)] = source // the go command may know the folder so
	}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		return err
	}
	return os.WriteFile(m.overlay(), overlay, 0o600)
}

func (m move) stays() bool { return m.port == webhookPort }

func (m move) overlay() string { return filepath.Join(m.scratch.Path, "overlay.json") }

// arguments are those of go build.
func (m move) arguments() []string {
	if m.scratch.Path == "" {
		return nil
	}
	return []string{"-overlay", m.overlay()}
}

// done removes what the build has read.
func (m move) done() error {
	if m.scratch.Path == "" {
		return nil
	}
	return m.scratch.Remove()
}

// movable reports whether the project has webhooks, and its manager serves them at the usual port for want of a flag.
func (o Options) movable(ctx context.Context, pkg string) bool {
	code := o.Code()
	flag, err := code.HasFlag(webhookPortFlag)
	if err != nil || flag {
		return false
	}
	chosen, err := code.SetsOption("Port")
	if err != nil || chosen {
		return false
	}
	hooks, err := o.webhooks(code, listening{})
	return err == nil && hooks != nil && o.imports(ctx, pkg, serverPackage)
}

// imports reports whether a package of the project imports another one, or what it imports does.
func (o Options) imports(ctx context.Context, pkg, other string) bool {
	var out bytes.Buffer
	cmd := o.goCommand("list", "-deps", "./"+pkg)
	cmd.Stdout, cmd.Stderr = &out, io.Discard
	err := cmd.Run(ctx)
	return err == nil && slices.Contains(strings.Fields(out.String()), other)
}

// freePort is the first one after the usual port that is free; the usual one if there is none.
func freePort() string {
	first, _ := strconv.Atoi(webhookPort) // it is a number
	for port := first + 1; port <= lastMoved; port++ {
		text := strconv.Itoa(port)
		if !taken(net.JoinHostPort(Loopback, text)) && !taken(":"+text) {
			return text
		}
	}
	return webhookPort
}
