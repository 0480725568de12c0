// Package registry is the cluster's own OCI registry, on a port of 127.0.0.1: where images
// are pushed that the cluster's nodes, or anything else on this machine, pull.
//
//	r, err := registry.Start(registry.Options{Dir: dir, Port: 5001})
//	…
//	r.Address() // 127.0.0.1:5001, or another port if that one was taken
//	…
//	r.Close()
//
// The protocol is that of the OCI distribution specification, as spoken by package ociserver;
// what it serves lies in files (package disk), so that a durable cluster still has its images
// after a restart. Starting costs a listener and nothing else.
//
// The code that is on this machine may pull. Pushing and deleting is for the user whose process this is and for root,
// whom Linux reports by their connections (package peer), and for those who have the token, by HTTP's basic
// authentication as [User]. Requests whose Host is no name of this machine are refused: a web page that has its own
// name resolve to 127.0.0.1 must not get at the images. So are changes that pages of elsewhere ask for. On Linux no
// other process can listen at the same port of [::1], which is localhost too.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
	"github.com/opencontainers/go-digest"

	"github.com/slipway-dev/slipway/cluster/registry/disk"
	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// Options say where a registry keeps its images and where it listens.
type Options struct {
	Dir     string // of this registry alone
	Durable bool   // keep what is in Dir, through power failures too; otherwise it is emptied
	Port    int    // of 127.0.0.1 to listen on, if it can be had; 0: any
	// Images are the names of the images of pods; those with digests are kept. nil: there are no pods.
	Images func(context.Context) ([]string, error)
	Token  string // with which others than the user of this process may push, and on systems that report no users that one too; empty: none
}

// Registry is a running registry.
type Registry struct {
	listener net.Listener
	release  func() error // of what is reserved beside the listener
	images   *arrivals
	backend  *disk.Backend
	server   *http.Server
	served   chan struct{}
}

// Start starts a registry.
func Start(o Options) (*Registry, error) {
	if !o.Durable {
		if err := os.RemoveAll(o.Dir); err != nil {
			return nil, fmt.Errorf("remove old images: %w", err)
		}
	}
	listener, release, err := listen(o.Port)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	backend := disk.New(o.Dir, o.Durable)
	if o.Images != nil {
		backend.Uses(func() ([]ociregistry.Digest, error) { return digests(o.Images) })
	}
	images := newArrivals(backend)
	r := &Registry{
		listener: listener,
		release:  release,
		images:   images,
		backend:  backend,
		served:   make(chan struct{}),
	}
	handler := uploadUnmounted(images, ociserver.New(images, &ociserver.Options{WriteError: writeError}))
	r.server = &http.Server{
		Handler:           onlyLocal(notFromPages(rights{owner(), o.Token}.guard(limitManifests(handler)))),
		ConnContext:       withUser,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // of clients that hang up
	}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener) // ends with Close
	}()
	return r, nil
}

// tries is how often another port is taken, if somebody else has the same one of [::1].
const tries = 8

// listen takes the port that is wished for, or any.
func listen(port int) (l net.Listener, release func() error, err error) {
	if l, release, err = listenOn(port); err == nil {
		return l, release, nil
	}
	for range tries {
		if l, release, err = listenOn(0); err == nil {
			return l, release, nil
		}
	}
	return nil, nil, err
}

func listenOn(port int) (net.Listener, func() error, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, nil, err
	}
	_, taken, _ := net.SplitHostPort(l.Addr().String())
	if port, err = strconv.Atoi(taken); err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	release, err := reserve(port)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, release, nil
}

// Address is where the registry listens, host:port.
func (r *Registry) Address() string { return r.listener.Addr().String() }

// Close ends the registry and all its connections. Images that were being pushed are not there.
func (r *Registry) Close() error {
	err := r.server.Close()
	<-r.served
	return errors.Join(err, r.release())
}

// maxManifest is the size that a manifest may have, the limit of other registries too.
const maxManifest = 4 << 20

// limitManifests keeps what is read into memory small.
func limitManifests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/manifests/") {
			if r.ContentLength > maxManifest {
				http.Error(w, "a manifest has at most 4 MiB", http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxManifest)
		}
		next.ServeHTTP(w, r)
	})
}

// uploadUnmounted begins an upload where contents are to be mounted that are not there. The specification wants it so,
// and clients go on with the upload, while they give up at a refusal.
func uploadUnmounted(images ociregistry.Interface, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wanted := digest.Digest(r.URL.Query().Get("mount"))
		if r.Method == http.MethodPost && wanted.Validate() == nil {
			if _, err := images.ResolveBlob(r.Context(), "", wanted); errors.Is(err, ociregistry.ErrBlobUnknown) {
				r = r.Clone(r.Context())
				r.URL.RawQuery = ""
			}
		}
		next.ServeHTTP(w, r)
	})
}

// onlyLocal refuses requests that were meant for another host.
func onlyLocal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !places.OnLoopback(r.Host) {
			http.Error(w, "this registry serves only its own machine: use it as localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// writeError answers with an error. That there is no room is told by a status that no client repeats its request after.
func writeError(w http.ResponseWriter, req *http.Request, err error) {
	switch {
	case errors.Is(err, disk.ErrFull):
		err = ociregistry.NewHTTPError(err, http.StatusInsufficientStorage, nil, nil)
	case errors.Is(err, context.Canceled) && req.Context().Err() != nil:
		return // nobody is there to read it
	}
	_ = ociregistry.WriteError(w, err)
}
