/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of api/public_routes.h: which request is which route. */
#include "api/public_routes.h"

#include "tests/unit/base/unit.h"

static void a_path_is_found_with_its_number(void **state)
{
    (void)state;
    const struct public_found pay = public_route_find(HTTP_POST, SPAN("/orders/0123456789abcdef/pay"));
    assert_int_equal(pay.known, PUBLIC_KNOWN);
    assert_int_equal(pay.route, PUBLIC_ORDER_PAY);
    assert_true(pay.order == 0x0123456789abcdef && pay.id == 0 && pay.pays);
    const struct public_found join = public_route_find(HTTP_POST, SPAN("/items/12/waitlist"));
    assert_true(join.known == PUBLIC_KNOWN && join.route == PUBLIC_WAITLIST_JOIN && join.id == 12);
    assert_true(join.order == 0 && !join.pays);
}

static void one_path_has_a_route_for_each_method(void **state)
{
    (void)state;
    assert_int_equal(public_route_find(HTTP_GET, SPAN("/items/12/waitlist")).route, PUBLIC_WAITLIST_SHOW);
    assert_int_equal(
        public_route_find(HTTP_DELETE, SPAN("/items/12/waitlist")).route, PUBLIC_WAITLIST_LEAVE);
    assert_int_equal(public_route_find(HTTP_PATCH, SPAN("/items/12/waitlist")).known, PUBLIC_OTHER_METHOD);
    assert_int_equal(public_route_find(HTTP_GET, SPAN("/items/12/waitlists")).known, PUBLIC_UNKNOWN);
    assert_int_equal(public_route_find(HTTP_GET, SPAN("/items/x/waitlist")).known, PUBLIC_UNKNOWN);
}

/* What can lead to a unit without the door is refused to banned users; joining a line takes a pass. */
static void what_leads_to_a_unit_needs_more_than_a_session(void **state)
{
    (void)state;
    assert_int_equal(public_route_find(HTTP_POST, SPAN("/items/1/waitlist")).needs, NEEDS_A_PASS);
    assert_int_equal(public_route_find(HTTP_POST, SPAN("/intents/pay")).needs, NEEDS_NO_BAN);
    assert_int_equal(public_route_find(HTTP_GET, SPAN("/items/1/waitlist")).needs, NEEDS_NOTHING);
    assert_int_equal(
        public_route_find(HTTP_POST, SPAN("/orders/0123456789abcdef/cancel")).needs, NEEDS_NOTHING);
}

/* Details of delivery are longer than anything else that users send. */
static void only_details_may_be_long(void **state)
{
    (void)state;
    const uint32_t brief = public_route_find(HTTP_GET, SPAN("/payments")).body_max;
    assert_true(public_route_find(HTTP_PUT, SPAN("/orders/0123456789abcdef/details")).body_max > brief);
    assert_true(public_route_find(HTTP_POST, SPAN("/intents/pay")).body_max > brief);
    assert_int_equal(public_route_find(HTTP_POST, SPAN("/orders/0123456789abcdef/pay")).body_max, brief);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_found_with_its_number),
        cmocka_unit_test(one_path_has_a_route_for_each_method),
        cmocka_unit_test(what_leads_to_a_unit_needs_more_than_a_session),
        cmocka_unit_test(only_details_may_be_long),
    };
    return cmocka_run_group_tests_name("api/public_routes", tests, NULL, NULL);
}
