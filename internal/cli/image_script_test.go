package cli_test

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/rogpeppe/go-internal/testscript"
)

// startRegistry is the script command `registry [-tls] [USER:PASSWORD]`: a registry in $REGISTRY, host:port, until the
// script ends. With -tls it speaks TLS, and $SSL_CERT_FILE names its authority.
func startRegistry(ts *testscript.TestScript, neg bool, args []string) {
	tls := len(args) > 0 && args[0] == "-tls"
	if tls {
		args = args[1:]
	}
	if neg || len(args) > 1 {
		ts.Fatalf("usage: registry [-tls] [USER:PASSWORD]")
	}
	handler := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true))
	if len(args) == 1 {
		handler = private(handler, args[0])
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust it
	if tls {
		server.StartTLS()
		trust(ts, server.Certificate())
	} else {
		server.Start()
	}
	ts.Defer(server.Close)
	ts.Setenv("REGISTRY", server.Listener.Addr().String())
}

// trust has the script's programs trust a certificate, and no other one.
func trust(ts *testscript.TestScript, certificate *x509.Certificate) {
	file := ts.MkAbs("registry.pem")
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}), 0o600))
	ts.Setenv("SSL_CERT_FILE", file)
}

// private asks for a user and a password.
func private(next http.Handler, login string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user+":"+password != login {
			w.Header().Set("WWW-Authenticate", `Basic realm="harbour"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pulled is the script command `pulled REF`: the image is in its registry, valid by the library's own judgement, and
// each of its platforms has a bill of materials.
func pulled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pulled REF")
	}
	ref, err := name.ParseReference(args[0])
	ts.Check(err)
	d, err := remote.Get(ref)
	ts.Check(err)
	if !d.MediaType.IsIndex() {
		img, err := d.Image()
		ts.Check(err)
		ts.Check(validate.Image(img))
		described(ts, ref, d.Digest)
		return
	}
	index, err := d.ImageIndex()
	ts.Check(err)
	ts.Check(validate.Index(index))
	manifest, err := index.IndexManifest()
	ts.Check(err)
	for _, m := range manifest.Manifests {
		described(ts, ref, m.Digest)
	}
}

// described fails unless an image has a bill of materials.
func described(ts *testscript.TestScript, ref name.Reference, digest v1.Hash) {
	list, err := remote.Referrers(ref.Context().Digest(digest.String()), remote.WithFilter("artifactType", "application/spdx+json"))
	ts.Check(err)
	m, err := list.IndexManifest()
	ts.Check(err)
	if len(m.Manifests) != 1 {
		ts.Fatalf("%s has %d bills of materials", digest, len(m.Manifests))
	}
}

// readEnv is the script command `readenv NAME FILE`: a variable gets what a file holds, without space around it.
func readEnv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: readenv NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}
