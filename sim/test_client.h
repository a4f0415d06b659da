/* SPDX-License-Identifier: MIT */
#ifndef SIM_TEST_CLIENT_H
#define SIM_TEST_CLIENT_H

/*
 * test_client -- the other end of a stream that was opened as tcp:0
 */

#include <arpa/inet.h>
#include <sys/socket.h>

#include "sim/test.h"

/* `place` is where the stream is, as dz_stream_place says it. */
static inline int connect_to(const char *place)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int client = socket(AF_INET, SOCK_STREAM, 0);
    const char *colon = strchr(place, ':');

    assert_non_null(colon);
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    assert_int_equal(
        connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
    return client;
}

static inline void say(int client, const char *text)
{
    size_t len = strlen(text);

    assert_int_equal(write(client, text, len), (ssize_t)len);
}

#endif
