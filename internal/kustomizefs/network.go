package kustomizefs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/userdirs"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// A Network is what kustomizations may have fetched: each address once, within limits, and announced before. The
// kustomizations of one command share it, by their context.
type Network struct {
	announce     func(address string)
	patience     time.Duration
	mu           sync.Mutex
	pages        map[string]*page
	bytes        int // of pages
	repositories map[repository]string
	announced    map[string]bool  // of repositories that kustomize fetches itself
	fetches      int              // of repositories
	folder       userdirs.Scratch // of repositories
}

// The limits of a network.
const (
	mostPages        = 500
	mostRepositories = 20
	patience         = time.Minute // for an answer and what it sends
)

// Why nothing is fetched.
var (
	ErrRemote  = errors.New("it is not on this machine, and nothing is fetched from a network")
	errPages   = fmt.Errorf("with it more than %d files are fetched", mostPages)
	errFetches = fmt.Errorf("with it more than %d repositories are fetched", mostRepositories)
	errLate    = errors.New("the server has not sent it in time")
)

// A RemoteError is an address that is needed where nothing may be fetched. It is an [ErrRemote].
type RemoteError struct{ Address string }

func (e *RemoteError) Error() string { return e.Address + ": " + ErrRemote.Error() }

// Unwrap returns ErrRemote.
func (e *RemoteError) Unwrap() error { return ErrRemote }

// A FetchError is an address that could not be fetched.
type FetchError struct {
	Address string
	Err     error
}

func (e *FetchError) Error() string { return e.Address + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Err }

// redacted is an address without a password.
func redacted(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Redacted()
	}
	return address
}

type networkKey struct{}

// Online is a context in which kustomizations may have addresses fetched, of which announce learns before. End removes
// what was fetched.
func Online(ctx context.Context, announce func(address string)) (online context.Context, end func()) {
	n := &Network{announce: announce, patience: patience, pages: map[string]*page{}, repositories: map[repository]string{}, announced: map[string]bool{}}
	return context.WithValue(ctx, networkKey{}, n), n.end
}

func (n *Network) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.folder.Remove() // what is left goes with the next one
	n.folder, n.repositories = userdirs.Scratch{}, nil
}

// announceOnce announces the address of a repository that kustomize fetches itself.
func (n *Network) announceOnce(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.announced[address] {
		n.announced[address] = true
		n.announce(address)
	}
}

// networkOf is the network of a context, or nil.
func networkOf(ctx context.Context) *Network {
	n, _ := ctx.Value(networkKey{}).(*Network)
	return n
}

// A page is the whole answer to a request.
type page struct {
	status int
	header http.Header
	body   []byte
}

// get answers a request, the second time from memory.
func (n *Network) get(ctx context.Context, by http.RoundTripper, request *http.Request) (*page, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	address := request.URL.String()
	if p := n.pages[address]; p != nil {
		return p, nil
	}
	if len(n.pages) >= mostPages {
		return nil, &LimitError{request.URL.Redacted(), errPages}
	}
	n.announce(request.URL.Redacted())
	ctx, cancel := context.WithTimeoutCause(ctx, n.patience, errLate)
	defer cancel()
	p, err := read(by, request.Clone(ctx))
	switch {
	case errors.Is(context.Cause(ctx), errLate):
		return nil, &FetchError{request.URL.Redacted(), errLate}
	case err != nil:
		return nil, err
	}
	if n.bytes += len(p.body); n.bytes > maxTotal {
		return nil, &LimitError{request.URL.Redacted(), ErrTooMuch}
	}
	n.pages[address] = p
	return p, nil
}

// read reads an answer as [Disk.ReadFile] reads a file.
func read(by http.RoundTripper, request *http.Request) (*page, error) {
	response, err := by.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxFile {
		return nil, &LimitError{request.URL.Redacted(), ErrTooLarge}
	}
	if _, err := yamlsize.Growth(body); err != nil {
		return nil, &LimitError{request.URL.Redacted(), err}
	}
	return &page{response.StatusCode, response.Header, body}, nil
}

// response is the page as an answer to a request.
func (p *page) response(request *http.Request) *http.Response {
	return &http.Response{
		StatusCode: p.status, Status: strconv.Itoa(p.status) + " " + http.StatusText(p.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: p.header, Body: io.NopCloser(bytes.NewReader(p.body)), ContentLength: int64(len(p.body)), Request: request,
	}
}

// clone has the files of a repository, and returns their folder.
func (n *Network) clone(ctx context.Context, r repository) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	commit := repository{url: r.url, ref: r.ref}
	if dir := n.repositories[commit]; dir != "" {
		return dir, nil
	}
	if n.fetches >= mostRepositories {
		return "", &LimitError{r.url, errFetches}
	}
	if n.folder.Path == "" {
		folder, err := userdirs.NewScratch("slipway-base-")
		if err != nil {
			return "", err
		}
		n.folder = folder
	}
	parent, err := filepath.EvalSymlinks(n.folder.Path)
	if err != nil {
		return "", err
	}
	n.announce(redacted(r.url))
	dir := filepath.Join(parent, strconv.Itoa(n.fetches))
	n.fetches++
	if err := git.Fetch(ctx, dir, git.Source{Address: r.url, Name: r.ref, Protocols: environment.protocols()}); err != nil {
		return "", &FetchError{redacted(r.url), err}
	}
	n.repositories[commit] = dir
	return dir, nil
}
