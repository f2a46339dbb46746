"""Few rows of TPC-H, chosen so that each of the 22 queries has an answer that isn't empty, null or 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SCALE = 0.02
"""Gigabytes that they are chosen from; the generator makes the same rows each time."""

ORDERS = (
    *(1, 3, 33, 70, 162, 193, 195, 225, 229, 230, 256, 258, 259, 326, 353, 356, 358, 416, 613, 645, 677, 707),
    *(742, 773, 807, 902, 994, 1059, 1092, 1316, 1474, 1507, 1699, 1732, 1761, 1792, 1825, 1831, 1888, 1953),
    *(2048, 2114, 2370, 2433, 2886, 3492, 3844, 4134, 4290, 5188, 5765, 6112, 6211, 6273, 6403, 6727, 6752),
    *(6882, 8132, 9381, 12224, 17927, 19648, 25826, 29158, 34855, 38977, 39428, 40741, 42659, 56324, 72838),
    *(76006, 79783, 82950, 107586, 116740),
)
PARTS = (
    *(4, 7, 15, 22, 25, 28, 35, 36, 42, 45, 46, 47, 54, 55, 57, 65, 86, 323, 424, 546, 691, 1211, 1227, 1371),
    *(1634, 1692, 2037, 2110, 2156, 2409, 2425, 2667, 2750, 2922, 3080, 3167, 3746, 3762, 3786, 3894),
)
SUPPLIERS = (
    *(9, 11, 14, 17, 23, 28, 37, 61, 68, 70, 74, 77, 91, 96, 98, 103, 104, 106, 114, 124, 145, 146, 151, 158),
    *(164, 175, 187, 194, 196),
)
GERMAN = (77, 158)
"""Suppliers of whom all parts are taken: a sum over them is compared with each."""

CUSTOMERS = 60
"""So many are taken besides those who have ordered."""


def few(known: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """These rows of all tables. Parts and suppliers of many lines aren't among them: those match nothing."""
    orders, lines, customers = known["orders"], known["lineitem"], known["customer"]
    parts, suppliers, sold = known["part"], known["supplier"], known["partsupp"]
    orders = orders[orders["o_orderkey"].isin(ORDERS)]
    suppliers = suppliers[suppliers["s_suppkey"].isin(SUPPLIERS)]
    # The generator writes complaints into five of 10,000 comments, which is none of these.
    comments = suppliers["s_comment"].where(suppliers["s_suppkey"] != GERMAN[0], "Customer Complaints")
    suppliers = suppliers.assign(s_comment=comments)
    ordered = customers["c_custkey"].isin(orders["o_custkey"])
    return {
        **known,
        "orders": orders,
        "lineitem": lines[lines["l_orderkey"].isin(ORDERS)],
        "customer": customers[ordered | (customers["c_custkey"] <= CUSTOMERS)],
        "part": parts[parts["p_partkey"].isin(PARTS)],
        "supplier": suppliers,
        "partsupp": sold[sold["ps_partkey"].isin(PARTS) | sold["ps_suppkey"].isin(GERMAN)],
    }
