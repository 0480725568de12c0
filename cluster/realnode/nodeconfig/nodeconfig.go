// Package nodeconfig is what a cluster reports the program slipway-node about the node that it is to be, and asks it
// while it runs. Both travel as JSON over a connection that the node inherits: keys are in it.
package nodeconfig

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// Config describes a node.
type Config struct {
	Name   string
	Number int  // from 0, different for each node of a cluster
	IDs    bool // many user ids are there, not one
	Limits bool // containers can be limited

	Address  netip.Addr   // the node's
	Pods     netip.Prefix // the range of its pods' addresses
	Services netip.Prefix // the range of the cluster's Services
	Machine  netip.Addr   // the address of the machine that joins the nodes
	DNS      netip.Addr   // the Service that answers for names
	Domain   string       // of those names

	Server     string            // the API server, host:port on the host's loopback
	Authority  []byte            // the certificate that signs all others
	Identity   Pair              // the node's client certificate
	Serving    Pair              // the kubelet's certificate
	Registry   string            // the cluster's own, host:port on the host's loopback; empty for none
	Mirrors    map[string]string // asked in place of registries: host[:port][/path] by the registry's full name
	Labels     map[string]string
	Taints     []corev1.Taint
	Capacity   corev1.ResourceList // that the node advertises, whatever the host has
	Kubernetes string              // the version that the node runs

	Verbosity int // of its log

	Plain *Plain // for a node on the machine as it is; nil in namespaces
}

// Plain is what a node has to know that has no namespaces.
type Plain struct {
	Dir       string // a folder of its own, of a short path: sockets are below it
	Volumes   string // the folder with the data of the cluster's volumes
	Container string // the path of slipway-container
	Port      int    // of the kubelet, on this machine's loopback
}

// PanicMark begins a line of the node's log that reports a panic, whether the kubelet goes on after it or not.
const PanicMark = "slipway-node: panic: "

// PlainVerb is the argument of a slipway-node that has no namespaces.
const PlainVerb = "plain"

// The files that such a node inherits besides the usual three.
const (
	FileConfig   = 3 // a connection that begins with its configuration
	FileLife     = 4 // ends when the node is to end
	FilePresence = 5 // held by the node and its pods' keepers: it ends when nothing of the node is left
)

// Pair is a certificate with its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// Accept reads the configuration that a connection begins with. Requests may follow.
func Accept(conn io.ReadWriter) (Config, *Requests, error) {
	r := &Requests{from: json.NewDecoder(conn), to: json.NewEncoder(conn)}
	var c Config
	if err := r.from.Decode(&c); err != nil {
		return c, nil, fmt.Errorf("read the node's configuration: %w", err)
	}
	return c, r, nil
}

// Write writes it as [Accept] reads it.
func (c Config) Write(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(c); err != nil {
		return fmt.Errorf("write the configuration of node %s: %w", c.Name, err)
	}
	return nil
}
