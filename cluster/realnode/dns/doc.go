// Package dns answers DNS questions of pods for the cluster's names, as CoreDNS does elsewhere: Services, headless ones
// with their pods' hostnames, ExternalName, SRV records of named ports, addresses of pods, and the reverse names of
// Services' addresses.
//
//	server := dns.New(informers, "cluster.local", log)
//	go server.Serve(packetConn)
//	go server.ServeTCP(listener)
//
// Addresses are A or AAAA records, by their family. The server treats all questions as hostile. It limits their size,
// and the TCP connections in all and of each pod. A panic during an answer ends that answer only.
//
// Without [Server.LookOutside] names outside the cluster do not exist, because pods cannot reach the network. The reply
// explains that in an extended error (RFC 8914), and [Server.FollowOutside] reports the question.
package dns
