/* Orders to the ensemble, over its control port: a line out, a JSON line back. */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* Gives an order and returns the answer, to be freed; fails the test unless it is `"ok":true`. */
char *control(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Gives an order whose answer says no more than that it was obeyed. */
void control_do(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Gives an order that the servers have to deny to the independent client, which has no
 * credentials. */
void control_denied(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How many children a node has, as an independent client sees it; 0 if it does not exist. */
int control_children(const char *path);

/* Waits until a node has so many children. */
void control_await_children(const char *path, int count);

/* The number of the server that a session is connected to. */
int control_server_of(int64_t session_id);

/* Whether the ensemble knows a session. */
bool control_knows_session(int64_t session_id);

#endif
