package wire

import "net/http"

// Handler is what the endpoint serves, also when it is closed.
func (e *Endpoint) Handler() http.Handler { return e.server.Handler }
