// Package dns answers the questions of pods for names of the cluster, as CoreDNS does elsewhere: Services, headless ones with the
// hostnames of their pods, ExternalName, SRV records of named ports, addresses of pods, and the names of Services' addresses.
//
//	server := dns.New(informers, "cluster.local")
//	go server.Serve(packetConn)
//	go server.ServeTCP(listener)
//
// Names outside of the cluster do not exist: pods have no way to them.
package dns
