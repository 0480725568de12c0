// Package fdpass lets one process make sockets for another. The two share a unix socket of the kind SOCK_SEQPACKET: a
// [Client] sends requests, and the other side replies with the socket itself. Requests and replies are types of package
// [github.com/slipway-dev/slipway/cluster/realnode/wire].
//
// The cluster's process asks the machine for sockets in the nodes' network. A node asks the cluster's process ([Serve])
// for connections and requests to registries, and for its containers' cgroups ([HostGroups]). The host decides which
// connections a node gets ([Ways]).
package fdpass
