package state

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"time"
)

// socketPatience bounds the wait for a program on this machine, which accepts within microseconds.
const socketPatience = 5 * time.Second

// Server is an API server that a user's kubeconfig leads to.
type Server interface {
	// Certificate returns the certificate whose key the server proved to have in a TLS handshake; nil without TLS.
	Certificate(ctx context.Context) (*x509.Certificate, error)
}

// Own returns the cluster that slipway runs on this machine and whose API server a server is; ok is false if it is none
// of them. All parts that ask whether a cluster is slipway's own ask here.
//
// Addresses and names prove nothing: the API servers of other tools are on loopback, too, and a forwarded port is the
// one of another machine. The certificate has to be the very one that the program made for this cluster's API server.
// The program has to listen at its socket, which no other machine reaches: several machines may share a home folder.
func (h Home) Own(ctx context.Context, server Server) (c Cluster, ok bool, err error) {
	certificate, err := server.Certificate(ctx)
	if err != nil || certificate == nil {
		return Cluster{}, false, err
	}
	all, err := h.Clusters()
	if err != nil {
		return Cluster{}, false, err
	}
	for _, c := range all {
		if bytes.Equal(c.serverCertificate(), certificate.Raw) && c.listens(ctx) {
			return c, true, nil
		}
	}
	return Cluster{}, false, nil
}

// serverCertificate is that of the cluster's API server, which the program makes; nil if there is none.
func (c Cluster) serverCertificate() []byte {
	text, err := os.ReadFile(filepath.Join(c.Dir, "pki", "apiserver.crt"))
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	return block.Bytes
}

// listens reports whether the program serves its protocol on this machine.
func (c Cluster) listens(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: socketPatience}).DialContext(ctx, "unix", c.SocketPath())
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
