// Package ingress answers, on this machine's loopback, for the Ingresses of a cluster: what an ingress controller does
// elsewhere.
//
//	front, err := ingress.New(informers, ingress.Options{Backends: proxy, Range: addresses, …})
//	informers.Start(ctx.Done())
//	front.Run(ctx)
//
// It listens where the status of Ingresses says, which package controllers writes for those of its class, and nowhere
// without any. A request goes to the Service that the rules name for its host and path: the most specific host, the
// longest path. Clients speak HTTP/1 or HTTP/2, with or without TLS, and upgrade to WebSocket; the certificates are
// those of the Secrets that Ingresses name. Services are spoken to over HTTP/1, or HTTP/2 where the port's appProtocol
// is kubernetes.io/h2c.
//
// A user who may write Ingresses chooses among the Services of the same namespaces, and nothing else: redirects,
// snippets and annotations have no effect.
package ingress
