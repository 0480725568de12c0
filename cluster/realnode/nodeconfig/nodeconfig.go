// Package nodeconfig declares the configuration that the cluster's process sends to slipway-node, and the requests
// while the node runs. Both travel as JSON over a connection that the node inherits, because they contain keys.
package nodeconfig

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// Config is the configuration of a node.
type Config struct {
	Name   string
	Number int  // from 0, unique in the cluster
	IDs    bool // the node has many user ids, not one
	Limits bool // containers can have limits

	Address  netip.Addr   // of the node
	Pods     netip.Prefix // the range of its pods
	Services netip.Prefix // the range of the cluster's Services
	Machine  netip.Addr   // that stands for the host in the nodes' network
	DNS      netip.Addr   // of the cluster's DNS Service
	Domain   string       // of the cluster's DNS names

	Server     string            // the API server, host:port on the host's loopback
	Authority  []byte            // the certificate of the cluster's CA, in PEM
	Identity   Pair              // the node's client certificate
	Serving    Pair              // the kubelet's certificate
	Registry   string            // the cluster's own, host:port on the host's loopback; empty for none
	Mirrors    map[string]string // instead of registries: host[:port][/path] by the registry's full name
	Labels     map[string]string
	Taints     []corev1.Taint
	Capacity   corev1.ResourceList // the resources that the node advertises in place of the host's
	Kubernetes string              // the version that the node reports

	Verbosity int // of the log, as klog's -v

	Plain *Plain // nil for a node with namespaces
}

// Plain is the additional configuration of a node without namespaces.
type Plain struct {
	Dir       string // the node's own folder; its path is short, because sockets are below it
	Volumes   string // the folder with the data of the cluster's volumes
	Container string // the path of slipway-container
	Port      int    // of the kubelet, on this machine's loopback
}

// PanicMark begins each line of the node's log that reports a panic, even if the kubelet recovers from it.
const PanicMark = "slipway-node: panic: "

// PlainVerb is the argument that starts slipway-node without namespaces.
const PlainVerb = "plain"

// The files that a plain node inherits besides the standard three.
const (
	FileConfig   = 3 // a connection that begins with the configuration
	FileLife     = 4 // at its end the node must end
	FilePresence = 5 // the node and its pods' keepers hold it open: it ends when all of them have ended
)

// Pair is a certificate with its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// Accept reads the configuration that the connection begins with. The cluster's requests follow on the connection.
func Accept(conn io.ReadWriter) (Config, *Requests, error) {
	r := &Requests{from: json.NewDecoder(conn), to: json.NewEncoder(conn)}
	var c Config
	if err := r.from.Decode(&c); err != nil {
		return c, nil, fmt.Errorf("read the node's configuration: %w", err)
	}
	return c, r, nil
}

// Write writes the configuration in the form that [Accept] reads.
func (c Config) Write(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(c); err != nil {
		return fmt.Errorf("write the configuration of node %s: %w", c.Name, err)
	}
	return nil
}
